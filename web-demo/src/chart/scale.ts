/** The end of an axis that shows `max`, and the step between its lines. */
export interface Scale {
  top: number;
  step: number;
}

/** Lines at 1, 2 or 5 times a power of ten. */
export function decimalScale(max: number, lines = 4): Scale {
  const power = 10 ** Math.floor(Math.log10(max / lines));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power * lines >= max) ?? 10);
  return { step, top: Math.ceil(max / step) * step };
}

/** Lines at powers of two, for sizes of memory. */
export function binaryScale(max: number, lines = 4): Scale {
  const step = 2 ** Math.ceil(Math.log2(max / lines));
  return { step, top: Math.ceil(max / step) * step };
}

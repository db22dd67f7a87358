/**
 * Jain's fairness index of shares: 1 if all are equal, 1/n if one has everything; NaN if nobody has anything.
 */
export function jain(shares: readonly number[]): number {
  let sum = 0;
  let squares = 0;
  for (const share of shares) {
    sum += share;
    squares += share * share;
  }
  return (sum * sum) / (shares.length * squares);
}

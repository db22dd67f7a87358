/** The element with this id. A page without it was built wrong, so that is not for users to see. */
export function byId<E extends Element>(id: string, kind: new () => E): E {
  return expectKind(document.getElementById(id), kind, `#${id}`);
}

/** A named control of a form. */
export function control<E extends Element>(form: HTMLFormElement, name: string, kind: new () => E): E {
  return expectKind(form.elements.namedItem(name), kind, `#${form.id} [name=${name}]`);
}

/** The places for numbers below an element, by name. */
export function figures(root: ParentNode): (name: string, text: string) => void {
  return (name, text) => setText(expectKind(root.querySelector(`[data-figure=${name}]`), HTMLElement, name), text);
}

/** The first element that matches. */
export function find<E extends Element>(root: ParentNode, selector: string, kind: new () => E): E {
  return expectKind(root.querySelector(selector), kind, selector);
}

/** Writes only what changes, so that nothing is laid out again for the same text. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls back with the value of a group of radio buttons when it changes. */
export function onChoice(group: HTMLElement, chosen: (value: string) => void): void {
  group.addEventListener("change", (event) => {
    if (event.target instanceof HTMLInputElement) chosen(event.target.value);
  });
}

function expectKind<E>(found: unknown, kind: new () => E, name: string): E {
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${kind.name} ${name}`);
}

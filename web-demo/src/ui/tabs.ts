/** Tabs as the ARIA patterns want them: arrow keys move, and the address remembers which one is shown. */
export function startTabs(list: HTMLElement): void {
  const tabs = [...list.querySelectorAll<HTMLButtonElement>("[role=tab]")];
  const show = (shown: HTMLButtonElement): void => {
    for (const tab of tabs) {
      const selected = tab === shown;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      panelOf(tab)?.toggleAttribute("hidden", !selected);
    }
  };
  const go = (tab: HTMLButtonElement | undefined): void => {
    if (!tab) return;
    show(tab);
    // Replacing leaves no trail of tabs behind the back button, and does not scroll to the panel.
    history.replaceState(null, "", `#${tab.getAttribute("aria-controls")}`);
  };
  list.addEventListener("click", ({ target }) => go(tabs.find((tab) => tab === target)));
  list.addEventListener("keydown", (event) => {
    const now = tabs.findIndex((tab) => tab === event.target);
    const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const tab = tabs.at(next % tabs.length);
    go(tab);
    tab?.focus();
  });
  const named = (): HTMLButtonElement | undefined =>
    tabs.find((tab) => `#${tab.getAttribute("aria-controls")}` === location.hash);
  addEventListener("hashchange", () => show(named() ?? tabs[0]!));
  show(named() ?? tabs[0]!);
}

function panelOf(tab: HTMLElement): HTMLElement | null {
  return document.getElementById(tab.getAttribute("aria-controls") ?? "");
}

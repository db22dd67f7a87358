/** The empty one follows the system. */
const THEMES = ["", "light", "dark"] as const;
const NAMES = { "": "as the system", light: "light", dark: "dark" };

/** A button that goes round the themes. `public/theme.js` applies the choice before the first paint. */
export function startTheme(button: HTMLButtonElement, changed: () => void): void {
  const root = document.documentElement;
  let theme = THEMES.find((one) => one === root.dataset["theme"]) ?? "";
  const show = (): void => {
    button.title = `Theme: ${NAMES[theme]}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "";
    if (theme === "") delete root.dataset["theme"];
    else root.dataset["theme"] = theme;
    remember(theme);
    show();
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  show();
}

function remember(theme: string): void {
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Without storage the choice holds until the page is left.
  }
}

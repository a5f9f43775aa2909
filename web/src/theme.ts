/** Light or dark: as the system has it, or as the user chose here. The choice is kept in this browser only. */

export type Theme = "auto" | "light" | "dark";

const STORED_AS = "telltale.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

let chosen = stored();

function stored(): Theme {
  try {
    const value = localStorage.getItem(STORED_AS);
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto"; // the browser keeps nothing for this page
  }
}

export function theme(): Theme {
  return chosen;
}

export function isDark(): boolean {
  return chosen === "auto" ? system.matches : chosen === "dark";
}

export function setTheme(next: Theme): void {
  chosen = next;
  try {
    if (next === "auto") localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, next);
  } catch {
    // it holds until the page is closed
  }
  apply();
}

/** Calls when light becomes dark or the other way round; the result ends that. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function apply(): void {
  document.documentElement.style.colorScheme = chosen === "auto" ? "light dark" : chosen;
  for (const listener of [...listeners]) listener();
}

system.addEventListener("change", apply);
window.addEventListener("storage", () => {
  chosen = stored();
  apply();
});
apply();

/** What waits while a person proves who they are on another page: where they were, and what they had entered. */
interface KeptForm {
  readonly path: string;
  readonly keptAt: number;
  readonly form: { readonly name: string; readonly values: Readonly<Record<string, string>> } | undefined;
}

const KEY = 'account.kept';
const MAX_AGE_MS = 10 * 60_000;

/** @param form without secrets: the storage of a tab is readable by every script of the origin */
export function keepForm(form: KeptForm['form']): void {
  const kept: KeptForm = { path: location.pathname + location.search, keptAt: Date.now(), form };
  sessionStorage.setItem(KEY, JSON.stringify(kept));
}

let restored: KeptForm['form'];

/**
 * Takes back what was kept, once. The form is filled in again by `restoredValues`, and never sent by itself.
 * @param root path of the area, ending in `/`: an address elsewhere is not followed
 * @returns the path to go on at
 */
export function takeKeptPath(root: string): string | undefined {
  const text = sessionStorage.getItem(KEY);
  if (text === null) return undefined;
  sessionStorage.removeItem(KEY);
  const kept = parse(text);
  if (kept === undefined || Date.now() - kept.keptAt > MAX_AGE_MS || !kept.path.startsWith(root)) return undefined;
  restored = kept.form;
  return kept.path;
}

/**
 * What had been entered into the form of this name, the first time that it is asked for.
 * @public
 */
export function restoredValues(name: string): Readonly<Record<string, string>> | undefined {
  if (restored?.name !== name) return undefined;
  const { values } = restored;
  restored = undefined;
  return values;
}

function parse(text: string): KeptForm | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

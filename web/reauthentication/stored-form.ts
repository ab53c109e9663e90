/** State kept while the user reauthenticates on another page: the path and the entered values. */
interface StoredForm {
  readonly path: string;
  readonly storedAt: number;
  readonly form: { readonly name: string; readonly values: Readonly<Record<string, string>> } | undefined;
}

const KEY = 'account.kept';
const MAX_AGE_MS = 10 * 60_000;

/** @param form without secrets, because every script of the origin can read the tab's storage */
export function keepForm(form: StoredForm['form']): void {
  const kept: StoredForm = { path: location.pathname + location.search, storedAt: Date.now(), form };
  sessionStorage.setItem(KEY, JSON.stringify(kept));
}

let restored: StoredForm['form'];

/**
 * Takes the kept state, once. `restoredValues` fills in the form, which is never submitted automatically.
 * @param root path of the area, ending in `/`; paths outside are ignored
 * @returns the path to continue at
 */
export function takeStoredPath(root: string): string | undefined {
  const text = sessionStorage.getItem(KEY);
  if (text === null) return undefined;
  sessionStorage.removeItem(KEY);
  const kept = parse(text);
  if (kept === undefined || Date.now() - kept.storedAt > MAX_AGE_MS || !kept.path.startsWith(root)) return undefined;
  restored = kept.form;
  return kept.path;
}

/**
 * Returns the kept values of the form with this name, on the first call only.
 * @public
 */
export function restoredValues(name: string): Readonly<Record<string, string>> | undefined {
  if (restored?.name !== name) return undefined;
  const { values } = restored;
  restored = undefined;
  return values;
}

function parse(text: string): StoredForm | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

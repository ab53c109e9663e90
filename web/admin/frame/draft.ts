/**
 * What was typed in a form and not sent yet, in this tab: a reload, a new sign-in or a lost network does not lose it.
 * Secrets must not be kept.
 */
type Draft = Readonly<Record<string, string>>;

/** @param form names the form on the page */
export function readDraft(form: string): Draft {
  const values: Record<string, string> = {};
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(form)) ?? '{}');
    for (const [name, value] of Object.entries(Object(kept))) if (typeof value === 'string') values[name] = value;
  } catch {
    // Another version of the area wrote it.
  }
  return values;
}

/** An empty draft is removed. */
export function keepDraft(form: string, draft: Draft): void {
  if (Object.keys(draft).length === 0) sessionStorage.removeItem(keyOf(form));
  else sessionStorage.setItem(keyOf(form), JSON.stringify(draft));
}

export function dropDraft(form: string): void {
  sessionStorage.removeItem(keyOf(form));
}

function keyOf(form: string): string {
  return `admin.draft ${location.pathname} ${form}`;
}

/** Longer than any name in the IANA time zone database. */
export const MAX_TIME_ZONE_CHARACTERS = 64;

// Excludes offsets such as +01:00, which are not names.
const NAME = /^[a-z][a-z0-9_+-]*(?:\/[a-z0-9_+-]+)*$/i;

/**
 * Returns the name of a time zone in the spelling of the IANA time zone database, for the claim `zoneinfo`.
 * @returns undefined if there is no such time zone
 * @see OpenID Connect Core 1.0 5.1
 */
export function parseTimeZone(text: string): string | undefined {
  const name = text.trim();
  if (name.length > MAX_TIME_ZONE_CHARACTERS || !NAME.test(name)) return undefined;
  const known = resolvedName(name);
  if (known === undefined) return undefined;
  // An alias, such as Asia/Kolkata for Asia/Calcutta, keeps the name that the user chose.
  return known.toLowerCase() === name.toLowerCase() ? known : name;
}

function resolvedName(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * The pattern of `like` for texts that contain this one, whose signs of a pattern stand for themselves. For columns in
 * lower case.
 */
export function containing(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}

/** Returns the `like` pattern for texts that contain this one, with its wildcards escaped. For lowercase columns. */
export function containing(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}

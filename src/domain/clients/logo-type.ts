/** Signatures of the formats that browsers display, with their offsets. */
const SIGNATURES = [
  { contentType: 'image/png', at: 0, text: '\x89PNG\r\n\x1a\n' },
  { contentType: 'image/jpeg', at: 0, text: '\xff\xd8\xff' },
  { contentType: 'image/gif', at: 0, text: 'GIF8' },
  { contentType: 'image/webp', at: 8, text: 'WEBP' },
] as const;

/**
 * Returns the media type of a logo by its content; undefined if browsers cannot display it.
 * @param mediaType declared by the host. SVG has no signature, so it must be declared
 */
export function logoType(content: Buffer, mediaType: string | undefined): string | undefined {
  const head = content.toString('latin1', 0, 64);
  const found = SIGNATURES.find(({ at, text }) => head.startsWith(text, at));
  if (found !== undefined) return found.contentType;
  return mediaType === 'image/svg+xml' && /^(?:\xef\xbb\xbf)?\s*</.test(head) ? mediaType : undefined;
}

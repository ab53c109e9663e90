/** In CSS pixels: until the framed page says how high it is. */
export const DEFAULT_HEIGHT = 500;
/** Higher than any page that people read; beyond it the frame scrolls. */
const MAX_HEIGHT = 10_000;

/**
 * The height that a message asks for, `{ height: 640 }` in CSS pixels. A message of anybody but the page in the frame, and of
 * another form, asks for nothing.
 */
export function framedHeight(
  { origin, source, data }: { readonly origin: string; readonly source: unknown; readonly data: unknown },
  frame: { readonly origin: string; readonly window: unknown },
): number | undefined {
  if (origin !== frame.origin || source === null || source !== frame.window) return undefined;
  if (typeof data !== 'object' || data === null || !('height' in data)) return undefined;
  const { height } = data;
  if (typeof height !== 'number' || !(height >= 1)) return undefined;
  return Math.min(Math.ceil(height), MAX_HEIGHT);
}

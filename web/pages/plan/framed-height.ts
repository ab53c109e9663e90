/** In CSS pixels, until the framed page reports its height. */
export const DEFAULT_HEIGHT = 500;
/** Above this limit, the frame scrolls. */
const MAX_HEIGHT = 10_000;

/**
 * Returns the height requested by a message `{ height: 640 }`, in CSS pixels. Ignores messages from other windows and
 * in other formats.
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

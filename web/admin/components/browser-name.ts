import { describeUserAgent } from '../../../src/browser/user-agent.ts';

/**
 * Returns the browser and the device of a `User-Agent` header, for example `Firefox · Linux`, or the header itself if it
 * names none that is known.
 */
export function browserName(userAgent: string): string {
  const { program, model, system } = describeUserAgent(userAgent);
  const parts = [program, model ?? system].filter((part) => part !== undefined);
  return parts.length === 0 ? userAgent : parts.join(' · ');
}

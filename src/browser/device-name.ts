import { type Client, clientName } from '#domain/clients/client.ts';
import { cleanName } from './components/text.tsx';
import { describeUserAgent } from './user-agent.ts';

/** Homeservers reject longer device names. */
const MAX_CHARACTERS = 100;

/**
 * Returns the name of a session's device at the homeserver, for example `Harbour (Pixel 8, Android)`. It combines the
 * client and the platform, as users see them in their list of devices (chat-compat 10.4).
 * @param language language that the user consented in
 * @returns undefined if neither is known
 */
export function deviceName(client: Client, language: string, userAgent: string | undefined): string | undefined {
  const name = cleanName(clientName(client, language) ?? '');
  const { model, program, system } = describeUserAgent(userAgent);
  const seen = [model, program, system].filter((part) => part !== undefined && part !== name).join(', ');
  const text = name === '' || seen === '' ? name + seen : `${name} (${seen})`;
  return text === '' ? undefined : [...text].slice(0, MAX_CHARACTERS).join('');
}

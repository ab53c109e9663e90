import { type Client, clientName } from '#domain/clients/client.ts';
import { cleanName } from './components/text.tsx';
import { describeUserAgent } from './user-agent.ts';

/** A homeserver refuses a device with a longer name. */
const MAX_CHARACTERS = 100;

/**
 * What the device of a session is called at the homeserver, for example `Harbour (Pixel 8, Android)`: by the client and
 * by what it runs on, as people see it in the list of their devices (chat-compat 10.4).
 * @param language in which the person agreed
 * @returns undefined when nothing is known of either
 */
export function deviceName(client: Client, language: string, userAgent: string | undefined): string | undefined {
  const name = cleanName(clientName(client, language) ?? '');
  const { model, program, system } = describeUserAgent(userAgent);
  const seen = [model, program, system].filter((part) => part !== undefined && part !== name).join(', ');
  const text = name === '' || seen === '' ? name + seen : `${name} (${seen})`;
  return text === '' ? undefined : [...text].slice(0, MAX_CHARACTERS).join('');
}

import type { VNode } from 'preact';
import { initialOf } from '../../src/browser/components/decision.tsx';
import { cleanName } from '../../src/browser/components/text.tsx';
import { useConfig } from '../frame/config-context.ts';

/** What is known of an application, as the account API gives it. */
interface NamedClient {
  /** Of the API: a prefix, and the id that the address of its logo has. */
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly logoUri: string | null;
}

/** What people know an application by. */
export function nameOfClient({ clientId, clientName }: Pick<NamedClient, 'clientId' | 'clientName'>): string {
  const shown = cleanName(clientName ?? '');
  if (shown === '') return clientId;
  // Anybody can publish any name, but only on a host of their own.
  const publisher = publisherOf(clientId);
  return publisher === undefined ? shown : `${shown} (${publisher})`;
}

/** The host that published what an application says of itself; undefined: it did not have to prove one. */
export function publisherOf(clientId: string): string | undefined {
  return clientId.startsWith('https://') ? new URL(clientId).host : undefined;
}

/** The logo of an application, or a letter for one that has none. */
export function ClientMark({ client }: { client: NamedClient }): VNode {
  const { clientLogos } = useConfig();
  return clientLogos !== undefined && client.logoUri !== null ? (
    <img class="client-logo" src={clientLogos + client.id.slice(client.id.indexOf(':') + 1)} alt="" />
  ) : (
    <span class="avatar" aria-hidden="true">
      {initialOf(nameOfClient(client))}
    </span>
  );
}

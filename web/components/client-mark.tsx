import type { VNode } from 'preact';
import { initialOf } from '../../src/browser/components/decision.tsx';
import { cleanName } from '../../src/browser/components/text.tsx';
import { useConfig } from '../frame/config-context.ts';

/** A client as returned by the account API. */
interface NamedClient {
  /** API ID: a prefix, and the ID that is part of the logo's URL. */
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly logoUri: string | null;
}

/** Returns the name of a client for users. */
export function nameOfClient({ clientId, clientName }: Pick<NamedClient, 'clientId' | 'clientName'>): string {
  const shown = cleanName(clientName ?? '');
  if (shown === '') return clientId;
  // Published metadata can claim any name, so the publishing host is shown with it.
  const publisher = publisherOf(clientId);
  return publisher === undefined ? shown : `${shown} (${publisher})`;
}

/** Returns the host that published the client's metadata; undefined if the client did not have to prove one. */
export function publisherOf(clientId: string): string | undefined {
  return clientId.startsWith('https://') ? new URL(clientId).host : undefined;
}

/** The logo of a client, or an initial if it has none. */
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

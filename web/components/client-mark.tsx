import type { VNode } from 'preact';
import { initialOf } from '../../src/browser/components/decision.tsx';
import { cleanName } from '../../src/browser/components/text.tsx';
import { useConfig } from '../frame/config-context.ts';

/** What is known of an application, as the account API gives it. */
interface NamedClient {
  readonly clientId: string;
  readonly clientName: string | null;
  readonly logoUri: string | null;
}

/** What people know an application by. */
export function nameOfClient({ clientId, clientName }: Omit<NamedClient, 'logoUri'>): string {
  const shown = cleanName(clientName ?? '');
  return shown === '' ? clientId : shown;
}

/** The logo of an application, or a letter for one that has none. */
export function ClientMark({ client }: { client: NamedClient }): VNode {
  const { clientLogos } = useConfig();
  return clientLogos !== undefined && client.logoUri !== null ? (
    <img class="client-logo" src={clientLogos + client.clientId} alt="" />
  ) : (
    <span class="avatar" aria-hidden="true">
      {initialOf(nameOfClient(client))}
    </span>
  );
}

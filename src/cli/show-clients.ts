import { type ClientRecord, clientDetails, clients } from '#domain/administration/client-listing.ts';
import { accessOf } from '#domain/clients/allowed-groups.ts';
import type { ClientKind } from '#domain/clients/client.ts';
import { clientIdentifier } from '#domain/clients/client-names.ts';
import { propertiesOf } from '#domain/clients/client-properties.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { containing } from '#platform/postgres/like.ts';
import type { ManageDeps } from './accounts.ts';
import { clientIdFrom } from './client-properties.ts';
import { table } from './table.ts';
import { visible } from './visible-text.ts';

export interface ListClientsOptions {
  readonly kind?: ClientKind | undefined;
  readonly search?: string | undefined;
  readonly limit: number;
  readonly json: boolean;
}

/** `manage list-clients`: a table, or with `--json` one document per line. Never shows secrets. */
export async function listClientsCommand(deps: ManageDeps, options: ListClientsOptions): Promise<void> {
  const { kind = 'listed', search, limit, json } = options;
  const filters = { kind, search: search === undefined || search === '' ? undefined : containing(search) };
  const window = { size: limit, isFromEnd: false, after: undefined, before: undefined };
  const { items, hasNext } = await clients.page(deps.database, filters, window);
  if (json) for (const client of items) deps.io.stdout(`${JSON.stringify(documentOf(client))}\n`);
  else deps.io.stdout(clientsTable(items));
  deps.io.stderr(hasNext ? `only the first ${limit} are shown\n` : `total: ${items.length}\n`);
}

export interface ShowClientOptions {
  readonly clientId: string;
  readonly json: boolean;
}

/** `manage show-client`. Throws `ExitError` 1 if the client does not exist; 2 for an invalid client ID. */
export async function showClientCommand(deps: ManageDeps, { clientId, json }: ShowClientOptions): Promise<void> {
  const client = await clientDetails.find(deps.database, clientIdFrom(clientId));
  if (client === undefined) throw new ExitError(ExitCode.failure, 'client not found');
  const document = { ...documentOf(client), ...propertiesOf(client.metadata), active_sessions: client.active_sessions };
  if (json) {
    deps.io.stdout(`${JSON.stringify(document)}\n`);
    return;
  }
  for (const [name, value] of Object.entries(document)) {
    deps.io.stdout(`${name}: ${visible(typeof value === 'string' ? value : JSON.stringify(value))}\n`);
  }
}

function documentOf(client: ClientRecord) {
  return {
    client_id: identifierOf(client),
    kind: client.kind,
    client_name: client.client_name,
    preset: client.preset,
    disabled: client.disabled_at !== null,
    access: accessOf(client),
    allowed_groups: client.allowed_groups,
    created_at: new Date(client.created_at).toISOString(),
  };
}

function identifierOf({ id, document_url }: ClientRecord): string {
  return clientIdentifier(fromUuid(id), document_url);
}

function clientsTable(listed: readonly ClientRecord[]): string {
  return table([
    ['CLIENT ID', 'KIND', 'STATUS', 'CREATED', 'NAME'],
    ...listed.map((client) => [
      visible(identifierOf(client)),
      client.kind,
      client.disabled_at === null ? 'enabled' : 'disabled',
      new Date(client.created_at).toISOString().slice(0, 10),
      visible(client.client_name ?? '-'),
    ]),
  ]);
}

import { clientIsEnabled, clientIsVouchedFor } from '#domain/records/liveness/clients.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ApplicationType } from '#protocol/oauth/registered-uris.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { shownTextSql } from './client.ts';
import { clientIdentifier } from './client-names.ts';

/** How a client presents itself to users. Values are as registered; pages sanitize them. */
export interface ClientPresentation {
  readonly id: ClientId;
  /** Its `client_id`. */
  readonly identifier: string;
  readonly name: string | undefined;
  readonly clientUri: string | undefined;
  readonly logoUri: string | undefined;
  readonly tosUri: string | undefined;
  readonly policyUri: string | undefined;
  readonly redirectUris: readonly string[];
  /** Undefined: not specified. */
  readonly applicationType: ApplicationType | undefined;
  /** Set up by an operator or administrator. */
  readonly isVouchedFor: boolean;
}

/** The members that `presentationColumn` selects. */
export interface PresentationJson {
  readonly document_url: string | null;
  readonly client_name: string | null;
  readonly client_uri: string | null;
  readonly logo_uri: string | null;
  readonly tos_uri: string | null;
  readonly policy_uri: string | null;
  readonly redirect_uris: readonly string[];
  readonly application_type: ApplicationType | null;
  readonly is_vouched_for: boolean;
}

/**
 * Returns the presentation as one column, for statements that read clients with their sessions. @param client alias of
 * `oauth2_clients`
 */
export function presentationColumn(client: string): string {
  const texts = ['client_name', 'client_uri', 'logo_uri', 'tos_uri', 'policy_uri'] as const;
  const members = texts.map((name) => `'${name}', ${shownTextSql(client, name)}`);
  const others = ['redirect_uris', 'application_type'].map((name) => `'${name}', ${client}.metadata -> '${name}'`);
  const url = `'document_url', ${client}.document_url`;
  const isVouchedFor = `'is_vouched_for', ${clientIsVouchedFor(client)}`;
  return `jsonb_build_object(${[...members, ...others, url, isVouchedFor].join(', ')})`;
}

export function clientPresentation(id: ClientId, json: PresentationJson): ClientPresentation {
  return {
    id,
    identifier: clientIdentifier(id, json.document_url),
    name: json.client_name ?? undefined,
    clientUri: json.client_uri ?? undefined,
    logoUri: json.logo_uri ?? undefined,
    tosUri: json.tos_uri ?? undefined,
    policyUri: json.policy_uri ?? undefined,
    redirectUris: json.redirect_uris,
    applicationType: json.application_type ?? undefined,
    isVouchedFor: json.is_vouched_for,
  };
}

const byIds = statement<{ id: string; client: PresentationJson }, { readonly ids: readonly string[] }>(
  'client-presentations',
  `select c.id, ${presentationColumn('c')} as client from oauth2_clients c
    where c.id = any(:ids::uuid[]) and ${clientIsEnabled('c')}`,
);

/** Returns the clients with these IDs, in the same order. Disabled clients are undefined. */
export async function findClientPresentations(
  queryable: Queryable,
  ids: readonly ClientId[],
): Promise<(ClientPresentation | undefined)[]> {
  const rows = await queryable.rows(byIds, { ids: ids.map(toUuid) });
  const found = new Map(
    rows.map((row) => [fromUuid<'client'>(row.id), clientPresentation(fromUuid(row.id), row.client)]),
  );
  return ids.map((id) => found.get(id));
}

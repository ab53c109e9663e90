import { statement } from '#platform/postgres/statement.ts';

export const deleteConsentsOfClient = statement<never, { readonly clientId: string }>(
  'delete-consents-of-client',
  'delete from oauth2_consents where client_id = :clientId::uuid',
);

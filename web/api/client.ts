import { type AnyVariables, Client, cacheExchange, fetchExchange, mapExchange, type OperationResult } from '@urql/core';
import { isSignedOut } from './problem.ts';

/**
 * Creates the client of the account API. Pages show cached data first and always refetch it. After a change everything
 * is refetched (see `useAction`).
 * @param onSignedOut called if a response shows that the user is no longer signed in
 */
export function createAreaClient(endpoint: string, onSignedOut: () => void): Client {
  return new Client({
    // Absolute, because it is parsed as a URL without a base.
    url: new URL(endpoint, location.origin).href,
    // A query in the URL would appear in logs and the history, and its length is limited.
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    exchanges: [
      cacheExchange,
      mapExchange({
        onResult: (result) => {
          if (tellsSignedOut(result)) onSignedOut();
        },
      }),
      fetchExchange,
    ],
  });
}

function tellsSignedOut({ data, error }: OperationResult<unknown, AnyVariables>): boolean {
  if (error !== undefined && isSignedOut(error)) return true;
  if (typeof data !== 'object' || data === null || !('viewer' in data)) return false;
  const { viewer } = data;
  return typeof viewer === 'object' && viewer !== null && '__typename' in viewer && viewer.__typename === 'Anonymous';
}

import { type AnyVariables, Client, cacheExchange, fetchExchange, mapExchange, type OperationResult } from '@urql/core';
import { isSignedOut } from './problem.ts';

/**
 * Asks the account API. What a page shows comes from memory first when it was asked for before, and is asked for again
 * each time; after a change all of it is (see `useAction`).
 * @param onSignedOut called when an answer tells that nobody is signed in any more
 */
export function createAreaClient(endpoint: string, onSignedOut: () => void): Client {
  return new Client({
    // Absolute, since it is parsed as an address of its own.
    url: new URL(endpoint, location.origin).href,
    // A query in the address would stand in logs and histories, and is bounded there.
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

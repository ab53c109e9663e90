import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { AdminClient } from './admin-client.ts';

const ClientContext = createContext<AdminClient | undefined>(undefined);
export const ClientProvider = ClientContext.Provider;

export function useClient(): AdminClient {
  const client = useContext(ClientContext);
  if (client === undefined) throw new Error('no client around this component');
  return client;
}

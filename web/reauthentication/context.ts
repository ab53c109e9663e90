import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Opens the dialog that leads to the reauthentication page. */
export type AskAgain = (
  url: string,
  form: { readonly name: string; readonly values: Readonly<Record<string, string>> } | undefined,
) => void;

const ReauthenticationContext = createContext<AskAgain>(() => undefined);
export const ReauthenticationProvider = ReauthenticationContext.Provider;

export function useReauthentication(): AskAgain {
  return useContext(ReauthenticationContext);
}

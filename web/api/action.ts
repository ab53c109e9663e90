import type { TypedDocumentNode } from '@urql/core';
import { useClient } from '@urql/preact';
import { useCallback, useState } from 'preact/hooks';
import { useReauthentication } from '../reauthentication/context.ts';
import { type Problem, problemOf } from './problem.ts';

/** A change requested by the user. */
export interface Action<Data, Variables> {
  readonly isPending: boolean;
  /** Why the last run failed. */
  readonly problem: Problem | undefined;
  /** @returns undefined if there was no response; `problem` has the reason */
  run(variables: Variables): Promise<Data | undefined>;
}

// Every query of the area includes the signed-in user, so this type name refetches all of them.
const AFFECTS_EVERYTHING = { additionalTypenames: ['User'] };

/**
 * Runs a mutation. After the response, the lists on the page are refetched.
 * @param form what the user entered, without secrets; kept during reauthentication
 */
export function useAction<Data, Variables extends Record<string, unknown>>(
  mutation: TypedDocumentNode<Data, Variables>,
  form?: { readonly name: string; readonly values: Readonly<Record<string, string>> },
): Action<Data, Variables> {
  const client = useClient();
  const askAgain = useReauthentication();
  const [state, setState] = useState<{ isPending: boolean; problem: Problem | undefined }>(IDLE);
  const run = useCallback(
    async (variables: Variables): Promise<Data | undefined> => {
      setState({ isPending: true, problem: undefined });
      const { data, error } = await client.mutation(mutation, variables, AFFECTS_EVERYTHING).toPromise();
      const problem = error === undefined ? undefined : problemOf(error);
      if (problem?.kind === 'reauthentication') {
        askAgain(problem.url, form);
        setState(IDLE);
        return undefined;
      }
      setState({ isPending: false, problem });
      return problem === undefined ? data : undefined;
    },
    [client, mutation, askAgain, form],
  );
  return { ...state, run };
}

const IDLE = { isPending: false, problem: undefined };

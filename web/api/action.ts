import type { TypedDocumentNode } from '@urql/core';
import { useClient } from '@urql/preact';
import { useCallback, useState } from 'preact/hooks';
import { useReauthentication } from '../reauthentication/context.ts';
import { type Problem, problemOf } from './problem.ts';

/** A change that a person asks for. */
export interface Action<Data, Variables> {
  readonly isPending: boolean;
  /** Why the last run came to nothing. */
  readonly problem: Problem | undefined;
  /** @returns undefined when there was no answer, which `problem` explains */
  run(variables: Variables): Promise<Data | undefined>;
}

// Every query of the area is about the person who is signed in, so that one name makes all of them be asked again.
const AFFECTS_EVERYTHING = { additionalTypenames: ['User'] };

/**
 * Runs a mutation. The lists on the page change after the answer, by being asked for again.
 * @param form what a person had entered, without secrets: it is kept while they prove who they are
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

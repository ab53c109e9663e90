import { useState } from 'preact/hooks';
import type { Problem, TestResponse } from './admin-client.ts';

interface Change {
  readonly isPending: boolean;
  /** Why the last attempt failed. */
  readonly problem: Problem | undefined;
  send<Data>(request: () => Promise<TestResponse<Data>>): Promise<TestResponse<Data>>;
}

/** Sends changes of a form or dialog, one at a time, and keeps why the last one failed. */
export function useChange(): Change {
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  return {
    isPending,
    problem,
    send: async (request) => {
      setPending(true);
      setProblem(undefined);
      const response = await request();
      setPending(false);
      if (!response.ok) setProblem(response.problem);
      return response;
    },
  };
}

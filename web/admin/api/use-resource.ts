import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Problem } from './admin-client.ts';
import { useClient } from './context.ts';

/** What a page reads. */
export interface ReadResource<Data> {
  /** Undefined until the first response. After a failure, the last one. */
  readonly data: Data | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

const MAX_KEPT = 50;

/** The last responses of this tab by path: a page that is opened again shows them while it loads. */
export class Responses<Data> {
  readonly #byPath = new Map<string, Data>();

  find(path: string): Data | undefined {
    return this.#byPath.get(path);
  }

  keep(path: string, data: Data): void {
    this.#byPath.delete(path);
    this.#byPath.set(path, data);
    const [oldest] = this.#byPath.keys();
    if (this.#byPath.size > MAX_KEPT && oldest !== undefined) this.#byPath.delete(oldest);
  }
}

interface State<Data> {
  readonly path: string;
  readonly data: Data | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
}

/**
 * Reads a path of the admin API, and again when it changes. A response that arrives after a navigation is ignored.
 * @param responses where all components that read this kind of document keep it
 * @param keepsFormer shows the response of the former path until the new one arrives, for a list with other filters
 */
export function useResource<Data>(responses: Responses<Data>, path: string, keepsFormer = false): ReadResource<Data> {
  const client = useClient();
  const [state, setState] = useState<State<Data>>(() => loading(path, responses.find(path)));
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState((before) =>
      loading(path, responses.find(path) ?? (keepsFormer || before.path === path ? before.data : undefined)),
    );
    void client.get<Data>(path, controller.signal).then((response) => {
      if (controller.signal.aborted) return;
      if (response.ok) responses.keep(path, response.data);
      setState((before) =>
        response.ok
          ? { path, data: response.data, problem: undefined, isLoading: false }
          : { ...before, problem: response.problem, isLoading: false },
      );
    });
    return () => controller.abort();
  }, [client, responses, path, attempt, keepsFormer]);
  const reload = useCallback(() => setAttempt((before) => before + 1), []);
  // The effect runs after the first render with another path.
  const shown = state.path === path || keepsFormer ? state : loading<Data>(path, responses.find(path));
  return { data: shown.data, problem: shown.problem, isLoading: shown.isLoading, reload };
}

function loading<Data>(path: string, data: Data | undefined): State<Data> {
  return { path, data, problem: undefined, isLoading: true };
}

import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../src/browser/components/text.tsx';

/** @param path of the page that shows the message; default: the current page */
type Tell = (text: ComponentChildren, path?: string) => void;

const TellContext = createContext<Tell>(() => undefined);

/**
 * Announces a successful change. Every change is announced, because screen readers do not notice the rest of the page
 * changing.
 */
export function useTell(): Tell {
  return useContext(TellContext);
}

interface Message {
  readonly text: ComponentChildren;
  readonly path: string;
  /** Unique, so that a repeated text is announced each time. */
  readonly id: number;
}

/** Shows the last message above its page until the user navigates. */
export function Told({ children }: { children: ComponentChildren }): VNode {
  const { path } = useLocation();
  const [told, setTold] = useState<Message | undefined>();
  const count = useRef(0);
  useEffect(() => setTold((last) => (last?.path === path ? last : undefined)), [path]);
  const tell = useCallback<Tell>(
    (text, of = path) => {
      count.current += 1;
      // The router omits a trailing slash.
      setTold({ text, path: of.replace(/\/$/, ''), id: count.current });
    },
    [path],
  );
  return (
    <TellContext.Provider value={tell}>
      <div class="told" role="status">
        {told?.path === path && (
          <Notice key={told.id} kind="success">
            {told.text}
          </Notice>
        )}
      </div>
      {children}
    </TellContext.Provider>
  );
}

import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../src/browser/components/text.tsx';

/** @param path of the page that shows the message; default: the current page */
type Announce = (text: ComponentChildren, path?: string) => void;

const AnnounceContext = createContext<Announce>(() => undefined);

/**
 * Announces a successful change. Every change is announced, because screen readers do not notice the rest of the page
 * changing.
 */
export function useAnnounce(): Announce {
  return useContext(AnnounceContext);
}

interface Message {
  readonly text: ComponentChildren;
  readonly path: string;
  /** Unique, so that a repeated text is announced each time. */
  readonly id: number;
}

/** Shows the last message above its page until the user navigates. */
export function Announcements({ children }: { children: ComponentChildren }): VNode {
  const { path } = useLocation();
  const [shown, setShown] = useState<Message | undefined>();
  const count = useRef(0);
  useEffect(() => setShown((last) => (last?.path === path ? last : undefined)), [path]);
  const announce = useCallback<Announce>(
    (text, of = path) => {
      count.current += 1;
      // The router omits a trailing slash.
      setShown({ text, path: of.replace(/\/$/, ''), id: count.current });
    },
    [path],
  );
  return (
    <AnnounceContext.Provider value={announce}>
      <div class="told" role="status">
        {shown?.path === path && (
          <Notice key={shown.id} kind="success">
            {shown.text}
          </Notice>
        )}
      </div>
      {children}
    </AnnounceContext.Provider>
  );
}

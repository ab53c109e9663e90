import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../../src/browser/components/text.tsx';

const AnnounceContext = createContext<(text: string) => void>(() => undefined);

/** Returns a function that reports the result of an action, visibly and to screen readers. */
export function useAnnounce(): (text: string) => void {
  return useContext(AnnounceContext);
}

/** The live region of the area. It shows the last message until the next navigation, also if an action navigates. */
export function Live({ children }: { children: ComponentChildren }): VNode {
  const { path } = useLocation();
  const [message, setMessage] = useState<{ readonly text: string; readonly id: number } | undefined>();
  const count = useRef(0);
  /** The message that the former render showed. */
  const shown = useRef<number | undefined>(undefined);
  // A message about the action that has just led to this path stays.
  useEffect(() => setMessage((latest) => (latest?.id === shown.current ? undefined : latest)), [path]);
  useEffect(() => {
    shown.current = message?.id;
  }, [message]);
  const announce = useCallback((text: string) => {
    count.current += 1;
    setMessage({ text, id: count.current });
  }, []);
  return (
    <AnnounceContext.Provider value={announce}>
      {/* Screen readers announce it only if it existed before its text. */}
      <div class="told" role="status">
        {message !== undefined && (
          <Notice key={message.id} kind="success">
            {message.text}
          </Notice>
        )}
      </div>
      {children}
    </AnnounceContext.Provider>
  );
}

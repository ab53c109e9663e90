import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../../src/browser/components/text.tsx';

const TellContext = createContext<(text: string) => void>(() => undefined);

/** Returns a function that reports the result of an action, visibly and to screen readers. */
export function useTell(): (text: string) => void {
  return useContext(TellContext);
}

/** The live region of the area. It shows the last message until the user navigates. */
export function Live({ children }: { children: ComponentChildren }): VNode {
  const { path } = useLocation();
  const [told, setTold] = useState<{ readonly text: string; readonly id: number } | undefined>();
  const count = useRef(0);
  useEffect(() => setTold(undefined), [path]);
  const tell = useCallback((text: string) => {
    count.current += 1;
    setTold({ text, id: count.current });
  }, []);
  return (
    <TellContext.Provider value={tell}>
      {/* Screen readers announce it only if it existed before its text. */}
      <div class="told" role="status">
        {told !== undefined && (
          <Notice key={told.id} kind="success">
            {told.text}
          </Notice>
        )}
      </div>
      {children}
    </TellContext.Provider>
  );
}

import { useState } from 'preact/hooks';
import { dropDraft, keepDraft, readDraft } from '../../frame/draft.ts';
import type { BaseVersion } from './policy-data.ts';

const NAME = 'policy-data';

/** A text that was typed and not saved yet, with the version that it is based on. */
export interface PolicyDraft {
  readonly text: string;
  readonly base: BaseVersion;
}

interface KeptDraft {
  readonly draft: PolicyDraft | undefined;
  /** Undefined: forgets it. */
  readonly keep: (draft: PolicyDraft | undefined) => void;
}

/** Keeps the draft in this tab: a reload, a new sign-in or a lost network does not lose it. */
export function usePolicyDraft(): KeptDraft {
  const [draft, setDraft] = useState(keptDraft);
  return {
    draft,
    keep: (next) => {
      setDraft(next);
      if (next === undefined) dropDraft(NAME);
      else keepDraft(NAME, { text: next.text, base: next.base.id ?? '', base_text: next.base.text });
    },
  };
}

function keptDraft(): PolicyDraft | undefined {
  const { text, base, base_text: baseText } = readDraft(NAME);
  if (text === undefined || baseText === undefined) return undefined;
  return { text, base: { id: base === '' ? undefined : base, text: baseText } };
}

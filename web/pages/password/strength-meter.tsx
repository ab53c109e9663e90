import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { StrengthJudge, type StrengthVerdict } from '../../../src/browser/components/strength-judge.ts';
import { useConfig } from '../../frame/config-context.ts';
import { type AreaTranslations, useTranslations } from '../../i18n/translations.ts';

declare global {
  interface Navigator {
    /** Of some browsers. */
    readonly connection?: { readonly saveData?: boolean };
  }
}

const WORDS = ['strength.0', 'strength.1', 'strength.2', 'strength.3', 'strength.4'] as const;

/**
 * Says how hard a new password is to guess while it is typed. The estimate is the server's, made in a worker: the
 * password stays in the browser. It decides nothing.
 * @param isWanted the worker is loaded then, since it weighs more than everything else
 */
export function StrengthMeter({
  password,
  username,
  minimumScore,
  isWanted,
}: {
  password: string;
  username: string;
  minimumScore: number;
  isWanted: boolean;
}): VNode | null {
  const { t } = useTranslations();
  const verdict = useVerdict({ password, username, minimumScore, isWanted });
  if (verdict === undefined) return null;
  const text = textOf(verdict, minimumScore, t);
  // Not the element of that name: each browser draws its bar in another way.
  const meter = {
    role: 'meter',
    'aria-label': t('strength.label'),
    'aria-valuemin': 0,
    'aria-valuemax': WORDS.length - 1,
    'aria-valuenow': verdict.score,
    'aria-valuetext': text,
    'data-level': verdict.level,
  } as const;
  return (
    <div class="strength">
      <div class="strength-bar" {...meter}>
        <span />
      </div>
      <p class="hint" aria-live="polite">
        {text}
      </p>
    </div>
  );
}

function useVerdict({
  password,
  username,
  minimumScore,
  isWanted,
}: Parameters<typeof StrengthMeter>[0]): StrengthVerdict | undefined {
  const { serviceName, strengthEstimator, minimumPasswordLength } = useConfig();
  const [verdict, setVerdict] = useState<StrengthVerdict | undefined>();
  const judge = useRef<StrengthJudge | undefined>(undefined);
  useEffect(() => {
    // Who saves data has the rules in words.
    if (!isWanted || navigator.connection?.saveData === true) return;
    const worker = new Worker(strengthEstimator);
    const started = new StrengthJudge({
      minimumScore,
      minimumLength: minimumPasswordLength,
      estimate: (typed) => worker.postMessage({ ...typed, serviceName }),
      show: setVerdict,
    });
    worker.onmessage = ({ data }) => started.answer(data);
    worker.onerror = () => {
      judge.current = undefined;
      setVerdict(undefined);
    };
    judge.current = started;
    return () => worker.terminate();
  }, [isWanted]);
  useEffect(() => judge.current?.type({ password, username, email: '' }), [password, username]);
  return verdict;
}

function textOf({ kind, score }: StrengthVerdict, minimumScore: number, t: AreaTranslations['t']): string {
  if (kind === 'too-short') return t('strength.too_short');
  if (kind === 'common') return t('strength.common');
  const strength = t(WORDS[score] ?? 'strength.0');
  return score < minimumScore ? t('strength.not_enough', { strength }) : strength;
}

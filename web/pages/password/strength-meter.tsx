import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { StrengthChecker, type StrengthRating } from '../../../src/browser/components/strength-checker.ts';
import { useConfig } from '../../frame/config-context.ts';
import { type AreaTranslations, useTranslations } from '../../i18n/translations.ts';

declare global {
  interface Navigator {
    /** Available in some browsers. */
    readonly connection?: { readonly saveData?: boolean };
  }
}

const WORDS = ['strength.0', 'strength.1', 'strength.2', 'strength.3', 'strength.4'] as const;

/**
 * Shows the strength of a new password during input. A worker runs the server's estimator, so the password stays in the
 * browser. The result is only a hint.
 * @param isWanted load the worker, which is larger than the rest of the application
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
  // Not a `meter` element, whose rendering differs between browsers.
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
}: Parameters<typeof StrengthMeter>[0]): StrengthRating | undefined {
  const { serviceName, strengthEstimator, minimumPasswordLength } = useConfig();
  const [verdict, setVerdict] = useState<StrengthRating | undefined>();
  const judge = useRef<StrengthChecker | undefined>(undefined);
  useEffect(() => {
    // With data saver on, the rules in words must suffice.
    if (!isWanted || navigator.connection?.saveData === true) return;
    const worker = new Worker(strengthEstimator);
    const started = new StrengthChecker({
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

function textOf({ kind, score }: StrengthRating, minimumScore: number, t: AreaTranslations['t']): string {
  if (kind === 'too-short') return t('strength.too_short');
  if (kind === 'common') return t('strength.common');
  const strength = t(WORDS[score] ?? 'strength.0');
  return score < minimumScore ? t('strength.not_enough', { strength }) : strength;
}

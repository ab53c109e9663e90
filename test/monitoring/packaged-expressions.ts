/** The PromQL expressions of `packaging/monitoring/`, and which metrics and labels they name. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const RULES = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const DASHBOARD = z.object({
  panels: z.array(
    z.object({
      title: z.string(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
});
const SELECTOR = /\b([a-z][a-z0-9_]*)(?:\{([^}]*)\})?/g;
const GROUPING = /\b(?:by|without) \(([^)]*)\)/g;
const MATCHER = /([a-z_]+)(=~|!=|!~|=)"([^"]*)"/g;
/** Labels that Prometheus adds to each series. */
const ADDED = new Set(['job', 'instance']);

interface Expression {
  readonly where: string;
  readonly text: string;
  /** Labels that the description or legend uses. */
  readonly shown: readonly string[];
}

export interface Matcher {
  readonly label: string;
  /** Alternatives; undefined for patterns that are not a list of values. */
  readonly values: readonly string[] | undefined;
}

export function alertExpressions(): readonly Expression[] {
  const { groups } = RULES.parse(parse(readFileSync('packaging/monitoring/alerts.yaml', 'utf8')));
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ where: alert, text: expr, shown: [] })));
}

export function dashboardExpressions(): readonly Expression[] {
  const { panels } = DASHBOARD.parse(JSON.parse(readFileSync('packaging/monitoring/dashboard.json', 'utf8')));
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({
      where: title,
      text: expr,
      shown: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
    })),
  );
}

/** Returns the metrics of an expression with their matchers, and the labels that it groups by. */
export function namesOf({ text, shown }: Expression) {
  const withoutGrouping = text.replaceAll(GROUPING, '');
  const series = [...withoutGrouping.matchAll(SELECTOR)]
    .map(([whole, name = '', matchers = '']) => ({ whole, name, matchers: matchersOf(matchers) }))
    .filter(({ name }) => /^(?:latchkey|http|db|process|nodejs)_/.test(name));
  const grouped = [...text.matchAll(GROUPING)].flatMap(([, list = '']) => list.split(/, ?/));
  return { series, labels: [...grouped, ...shown].filter((label) => !ADDED.has(label)) };
}

function matchersOf(text: string): readonly Matcher[] {
  return [...text.matchAll(MATCHER)]
    .filter(([, label = '']) => !ADDED.has(label))
    .map(([, label = '', , value = '']) => ({
      label,
      values: /^[\w/|-]*$/.test(value) ? value.split('|') : undefined,
    }));
}

/**
 * Renders every page and mail with sample data in every language (operations 3.7), so that errors are found before a
 * user opens the page.
 */
import type { AssetFiles } from '#browser/asset-files.ts';
import { brandOf } from '#browser/brand.ts';
import { ownAssets, siteOf } from '#browser/browser.ts';
import { documentProblems, mailProblems } from '#browser/document-problems.ts';
import { loadTranslations } from '#browser/i18n/load-translations.ts';
import { mailFrameOf } from '#browser/mails/mail-queue.ts';
import { renderMail } from '#browser/mails/render-mail.tsx';
import { mailSamples } from '#browser/mails/samples.ts';
import type { SampleContext } from '#browser/sample.ts';
import { Urls } from '#browser/urls.ts';
import type { Config } from '#config/config.ts';
import type { TemplateProblem } from '#config/placeholders.ts';
import { UpstreamProviders } from '#domain/upstream/upstream-providers.ts';
import { describeError } from '#platform/base/log.ts';
import { pageSamples } from './samples.ts';
import { StrictTranslations } from './strict-translations.ts';

/** Sample data for pages and mails. */
export interface SampleValues extends Pick<SampleContext, 'now' | 'token'> {
  /** Six digits. */
  readonly code: string;
}

/** One rendered text, named after the file that `--out-dir` writes. */
export interface Render {
  readonly file: string;
  readonly text: string;
}

/** `template:line: text` */
export interface RenderProblem {
  readonly template: string;
  readonly line: number;
  readonly text: string;
}

export interface CheckedTemplates {
  readonly renders: readonly Render[];
  readonly problems: readonly RenderProblem[];
  readonly languages: readonly string[];
}

/** A long name that includes right-to-left text, as users may have. */
const NAME = 'Amira Okafor-Lindqvist أميرة';

/** @param builtAssets supplies the published asset names; undefined: plain names are used */
export function checkTemplates(
  config: Config,
  builtAssets: AssetFiles | undefined,
  values: SampleValues,
): CheckedTemplates {
  const catalog = loadTranslations(config.templates.translations);
  const urls = new Urls(config.http.publicBase);
  const brand = brandOf(config.branding);
  const assets = builtAssets === undefined ? undefined : ownAssets(config, builtAssets, brand, catalog);
  const site = siteOf(config, urls, brand, assets?.publishedNames ?? {});
  const mailDeps = {
    config,
    urls,
    isRecoveryOpen: true,
    upstream: { providers: new UpstreamProviders(config.upstreamOauth2) },
  };
  const frame = mailFrameOf(mailDeps);
  const found = new Findings();
  for (const language of catalog.languages) {
    const translations = new StrictTranslations(catalog.in(language), catalog.keys);
    const context = { site, languages: catalog.languages, ...values, translations, text: NAME };
    for (const { name, render } of pageSamples) {
      found.add(name, `pages/${name}.${language}.html`, () => render(context), documentProblems);
    }
    for (const { name, text } of mailSamples) {
      const rendered = once(() => renderMail(frame, translations, text(mailDeps, context), NAME));
      found.add(`${name}.subject`, `emails/${name}.${language}.subject`, () => rendered().subject, oneLine);
      found.add(
        `${name}.txt`,
        `emails/${name}.${language}.txt`,
        () => rendered().text,
        () => [],
      );
      found.add(`${name}.html`, `emails/${name}.${language}.html`, () => rendered().html, mailProblems);
    }
  }
  return { renders: found.renders, problems: found.problems, languages: catalog.languages };
}

/** Errors are not cached, so that every part reports them. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function oneLine(subject: string): readonly TemplateProblem[] {
  return subject === '' || subject.includes('\n') ? [{ offset: 0, message: 'expected one line' }] : [];
}

/** Traces of missing values in a rendered text. */
const MISSING = /(?<![\w-])(?:undefined|null|NaN|\[object \w+\])(?![\w-])/g;

class Findings {
  readonly renders: Render[] = [];
  readonly problems: RenderProblem[] = [];
  /** A problem in one language usually exists in most; it is reported once. */
  readonly #told = new Set<string>();

  add(sample: string, file: string, render: () => string, check: (text: string) => readonly TemplateProblem[]): void {
    let text: string;
    try {
      text = render();
    } catch (error) {
      this.#tell(sample, { template: file, line: 1, text: describeError(error).message.split('\n')[0] ?? '' });
      return;
    }
    this.renders.push({ file, text });
    const missing = [...text.matchAll(MISSING)].map(({ index, 0: value }) => {
      return { offset: index, message: `a value is missing: the text contains "${value}"` };
    });
    for (const { offset, message } of [...check(text), ...missing]) {
      this.#tell(sample, { template: file, line: text.slice(0, offset).split('\n').length, text: message });
    }
  }

  #tell(sample: string, problem: RenderProblem): void {
    const key = `${sample} ${problem.text}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.problems.push(problem);
  }
}

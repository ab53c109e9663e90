/**
 * Entry point of the admin area. The server renders the surrounding page: `#root` with the injected configuration, the
 * brand as header, `meta[name=application-name]` with the service name, and a preload (`as="fetch"`) of the texts in
 * the user's language. All other communication uses the admin API, with a token from a silent authorization request.
 */
import './styles/admin.css';
import { render } from 'preact';
import { closeLanguageMenu } from '../components/language-menu.ts';
import { App } from './app.tsx';
import { readConfig } from './config.ts';
import { takeKeptPath } from './frame/kept-path.ts';
import { loadLanguage } from './i18n/translations.ts';

const element = document.getElementById('root');
if (element === null) throw new Error('the page has no place for the admin area');
const config = readConfig(element);

// Before the first render, so that it shows the right page.
const first = takeKeptPath(config.root);
if (first !== undefined) history.replaceState(null, '', first);
closeLanguageMenu();

const language = await loadLanguage(config.catalog);
document.body.prepend(skipLink(language.t('admin.skip')));
render(<App config={config} language={language} />, element);

/** First element in the tab order, before the operator's header. */
function skipLink(text: string): HTMLAnchorElement {
  return Object.assign(document.createElement('a'), { className: 'skip-link', href: '#main', textContent: text });
}

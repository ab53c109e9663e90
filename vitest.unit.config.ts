import { defineConfig } from 'vitest/config';
import { readTestFiles } from './scripts/steps/test-needs.js';
import config from './vitest.config.ts';

/** The configuration of `npm run unit`: tests that need no database, and no database. */
export default defineConfig({ test: { ...config.test, globalSetup: [], exclude: readTestFiles().withDatabase } });

import { alerts } from './alerts.ts';
import { en } from './index.ts';
import { projects } from './projects.ts';
import { testCall } from './test-call.ts';
import { usage } from './usage.ts';

/** Every text: those of the first load, and those that come with a page. For types and tests: loading it loads them all. */
export const allEnglish = {
  ...en,
  ...alerts,
  ...projects,
  ...testCall,
  ...usage,
} as const;

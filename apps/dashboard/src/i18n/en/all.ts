import { alerts } from './alerts.ts';
import { dataJobs } from './data-jobs.ts';
import { en } from './index.ts';
import { moderation } from './moderation.ts';
import { projects } from './projects.ts';
import { push } from './push.ts';
import { testCall } from './test-call.ts';
import { usage } from './usage.ts';
import { users } from './users.ts';

/** Every text: those of the first load, and those that come with a page. For types and tests: loading it loads them all. */
export const allEnglish = {
  ...en,
  ...alerts,
  ...dataJobs,
  ...moderation,
  ...projects,
  ...push,
  ...testCall,
  ...usage,
  ...users,
} as const;

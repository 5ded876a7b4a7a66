import { dataJobs } from '../i18n/en/data-jobs.ts';
import { textsOfPages } from '../i18n/t.ts';

export const { t, withNodes } = textsOfPages(dataJobs);

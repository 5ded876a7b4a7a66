import type { LiveStream, LiveStreamVisibility } from '@parley/contract';
import { t } from '../i18n/t.ts';

interface AboutFields extends Record<string, string> {
  title: string;
  description: string;
  thumbnailUrl: string;
  category: string;
  tags: string;
  language: string;
  visibility: string;
  metadata: string;
}

/** The contract's own bounds; the service decides. */
const lengths = { title: 200, description: 2_000 } as const;
const metadataBytesMax = 4_096;

export const aboutFields = (stream: LiveStream | null): AboutFields => ({
  title: stream?.title ?? '',
  description: stream?.description ?? '',
  thumbnailUrl: stream?.thumbnailUrl ?? '',
  category: stream?.category ?? '',
  tags: stream?.tags.join(', ') ?? '',
  language: stream?.language ?? '',
  visibility: stream?.visibility ?? 'PUBLIC',
  metadata: stream && Object.keys(stream.metadata).length > 0 ? JSON.stringify(stream.metadata, null, 2) : '',
});

export const lengthHint = (text: string, field: keyof typeof lengths): string =>
  t('live-streams.lengthHint', { now: text.length, max: lengths[field] });

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export const metadataHint = (text: string): string =>
  t('live-streams.metadataHint', { now: bytesOf(compact(text)), max: metadataBytesMax });

/** What is sent: without the spaces that make it readable here. */
function compact(text: string): string {
  try {
    return text.trim() === '' ? '' : JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function metadataProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return t('live-streams.enterObject', { example: '{"key": "value"}' });
  } catch {
    return t('live-streams.notJson');
  }
  return bytesOf(compact(text)) > metadataBytesMax
    ? t('live-streams.atMostBytes', { max: metadataBytesMax })
    : undefined;
}

export function aboutProblems({
  title,
  description,
  metadata,
}: AboutFields): Partial<Record<keyof AboutFields & string, string>> {
  const problems = {
    title:
      title.trim() === '' ? t('live-streams.giveTitle') : title.length > lengths.title ? tooLong('title') : undefined,
    description: description.length > lengths.description ? tooLong('description') : undefined,
    metadata: metadataProblem(metadata),
  };
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined));
}

const tooLong = (field: keyof typeof lengths): string => t('live-streams.atMostCharacters', { max: lengths[field] });

/** The body: what is empty is left to the service's defaults. */
export function aboutOf(values: AboutFields) {
  const text = (name: 'description' | 'thumbnailUrl' | 'category' | 'language') =>
    values[name].trim() === '' ? {} : { [name]: values[name].trim() };
  const tags = values.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  return {
    ...text('description'),
    ...text('thumbnailUrl'),
    ...text('category'),
    ...text('language'),
    ...(tags.length === 0 ? {} : { tags }),
    // The select offers nothing else.
    visibility: values.visibility as LiveStreamVisibility,
    ...(values.metadata.trim() === '' ? {} : { metadata: JSON.parse(values.metadata) as Record<string, unknown> }),
  };
}

/** A change replaces: what was emptied is sent empty. */
export const changeOf = (values: AboutFields) => ({
  ...aboutOf(values),
  title: values.title.trim(),
  description: values.description.trim(),
  thumbnailUrl: values.thumbnailUrl.trim(),
  category: values.category.trim(),
  language: values.language.trim(),
  tags: aboutOf(values).tags ?? [],
  metadata: aboutOf(values).metadata ?? null,
});

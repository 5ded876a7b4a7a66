import { publicDeclarations } from './declarations.ts';
import { entriesOf, readManifest } from './manifest.ts';
import { packages } from './table.ts';

/** What each SDK shows its users, as text that a review can compare: `docs/api/client.md`. */
export function apiReports(): Record<string, () => string> {
  const libraries = packages.filter(({ kind }) => kind === 'library').map(({ folder }) => folder);
  return Object.fromEntries(
    libraries.map((folder) => {
      const { name } = readManifest(folder);
      return [`docs/api/${name.replace('@parley/', '')}.md`, () => reportOf(name, folder)];
    }),
  );
}

function reportOf(name: string, folder: string): string {
  const files = publicDeclarations(Object.values(entriesOf(readManifest(folder), folder)));
  const parts = [...files].map(([path, text]) => `## ${path}\n\n\`\`\`ts\n${text}\`\`\`\n`);
  return `# ${name}

Every type that an application sees of this package. Written by \`npm run generate\`: a difference in a review is a change of the API, and belongs into CHANGELOG.md.

${parts.join('\n')}`;
}

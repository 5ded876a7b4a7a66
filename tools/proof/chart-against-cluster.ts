/**
 * Holds every object of the chart against what a cluster says of its own kinds:
 *
 *   kubectl get --raw /openapi/v2 > openapi.json
 *   node tools/proof/chart-against-cluster.ts openapi.json
 *
 * Kubernetes' repositories have the same document as `swagger.json`, for a machine without a cluster.
 */
import { readFileSync } from 'node:fs';
import { chartChoices, chartObjects } from '../deploy/chart-objects.ts';
import { createOpenApiCheck } from '../deploy/openapi.ts';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Name the file with the OpenAPI of the cluster.');
const problemsOf = createOpenApiCheck(JSON.parse(readFileSync(file, 'utf8')));
const objects = chartChoices.flatMap((choice) => chartObjects(choice));
const problems = new Set(objects.flatMap((object) => problemsOf(object)));
for (const problem of problems) console.log(problem);
console.log(`${objects.length} objects, ${problems.size} problems`);
process.exitCode = problems.size > 0 ? 1 : 0;

/** Reads the declaration files that tsc writes, statement by statement: their form is regular, so no parser is needed. */

interface Statement {
  text: string;
  names: readonly string[];
}

interface Binding {
  /** As the other module calls it. */
  imported: string;
  from: string;
}

export interface DeclarationModule {
  statements: readonly Statement[];
  /** By local name: what is imported. */
  imports: ReadonlyMap<string, Binding>;
  /** By exported name: what comes from another module, or from here under another name. */
  reexports: ReadonlyMap<string, Binding>;
  /** Modules of which everything is exported. */
  stars: readonly string[];
}

const statementStart = /^(?:import|export|declare|interface|type|class|abstract)\b/;
const declaredName =
  /^(?:export )?(?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|enum|namespace) (\w+)/;
const binding = /^(?:type )?(\w+)(?: as (\w+))?$/;

/** Each statement with the comment above it. */
function statementsOf(text: string): { comment: string; code: string }[] {
  const found: { comment: string; code: string }[] = [];
  let comment = '';
  for (const line of text.split('\n')) {
    const last = found.at(-1);
    if (/^(?:\/\*\*| \*|\/\/)/.test(line)) comment += `${line}\n`;
    else if (statementStart.test(line)) {
      found.push({ comment, code: line });
      comment = '';
    } else if (last && line !== '') last.code += `\n${line}`;
  }
  return found;
}

export function readDeclarations(text: string): DeclarationModule {
  const statements: Statement[] = [];
  const imports = new Map<string, Binding>();
  const reexports = new Map<string, Binding>();
  const stars: string[] = [];
  for (const { comment, code } of statementsOf(text)) {
    const [, keyword, list = '', from = ''] =
      /^(import|export)(?: type)? \{([^}]*)\}(?: from ['"]([^'"]+)['"])?;/.exec(code) ?? [];
    const [, star] = /^export(?: type)? \* from ['"]([^'"]+)['"];/.exec(code) ?? [];
    if (star !== undefined) stars.push(star);
    else if (keyword === undefined) statements.push({ text: `${comment}${code}`, names: [nameOf(code)] });
    else
      for (const part of list.split(',').map((one) => one.trim())) {
        const [, name = '', alias = name] = binding.exec(part) ?? [];
        if (name !== '') (keyword === 'import' ? imports : reexports).set(alias, { imported: name, from });
      }
  }
  return { statements, imports, reexports, stars };
}

function nameOf(code: string): string {
  const [, name] = declaredName.exec(code) ?? [];
  if (name === undefined) throw new Error(`A declaration that is not understood: ${code.slice(0, 120)}`);
  return name;
}

import type { JSX } from 'react';
import { docs as t } from '../../strings/index.ts';
import { describeLimits, describeType, objectsIn, titleOf } from './describe-type.ts';
import { Prose } from './prose.tsx';
import { nameOf } from './read-document.ts';
import type { Schema } from './read-document.ts';

/** Deeper nesting would be unreadable. */
const DEPTH_MAX = 6;

interface SchemaFieldsProps {
  readonly schema: Schema;
  readonly depth?: number;
}

/** The fields of an object with their types. Nested fields can be expanded. */
export function SchemaFields({ schema, depth = 0 }: SchemaFieldsProps): JSX.Element {
  const required = new Set(schema.required);
  return (
    <ul className="divide-y divide-line">
      {Object.entries(schema.properties ?? {}).map(([name, field]) => (
        <li key={name} className="py-3">
          <Field name={name} field={field} isRequired={required.has(name)} depth={depth} />
        </li>
      ))}
    </ul>
  );
}

interface FieldProps {
  readonly name: string;
  readonly field: Schema;
  readonly isRequired: boolean;
  readonly depth: number;
}

/** One field; also used for URL parameters. */
export function Field({ name, field, isRequired, depth }: FieldProps): JSX.Element {
  const limits = describeLimits(field);
  const nested = depth < DEPTH_MAX ? objectsIn(field) : [];
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2.5 gap-y-0.5">
        <code className="font-mono text-[0.8125rem] font-semibold">{name}</code>
        <TypeName schema={field} />
        {isRequired && <span className="text-xs font-medium text-warn">{t.required}</span>}
      </p>
      {field.description !== undefined && <Prose text={field.description} className="mt-0.5 text-sm text-muted" />}
      {limits !== '' && <p className="mt-0.5 text-xs text-muted">{limits}</p>}
      {nested.length > 0 && <NestedFields schemas={nested} depth={depth + 1} />}
    </>
  );
}

function TypeName({ schema }: { readonly schema: Schema }): JSX.Element {
  const text = describeType(schema);
  if (schema.$ref === undefined) return <span className="figures text-xs break-words text-muted">{text}</span>;
  return (
    <a href={`#${nameOf(schema.$ref)}`} className="link figures text-xs">
      {text}
    </a>
  );
}

function NestedFields({ schemas, depth }: { readonly schemas: readonly Schema[]; readonly depth: number }): JSX.Element {
  return (
    <details className="group mt-2">
      <summary className="w-fit rounded-sm text-xs text-accent hover:underline">
        {schemas.length === 1 ? t.fields : `${schemas.length} ${t.variants.toLowerCase()}`}
      </summary>
      <div className="mt-2 flex flex-col gap-3 border-l-2 border-line pl-4">
        {schemas.map((schema, index) => (
          <div key={titleOf(schema, index + 1)}>
            {schemas.length > 1 && <p className="figures text-xs font-medium">{titleOf(schema, index + 1)}</p>}
            {schema.description !== undefined && schemas.length > 1 && <Prose text={schema.description} className="text-sm text-muted" />}
            <SchemaFields schema={schema} depth={depth} />
          </div>
        ))}
      </div>
    </details>
  );
}

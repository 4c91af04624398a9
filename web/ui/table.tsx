import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';
import { columnClass } from './column-class.ts';
import { cx } from './cx.ts';
import { EmptyState } from './empty-state.tsx';
import { ErrorState } from './error-state.tsx';
import { Skeleton } from './skeleton.tsx';
import { StaleNote } from './stale-note.tsx';
import { TableHead, type HeadColumn, type Sort } from './table-head.tsx';

export interface Column<Row> extends HeadColumn {
  readonly cell: (row: Row) => ReactNode;
  /** Cell of the totals row. */
  readonly total?: ReactNode;
}

interface TableProps<Row> {
  /** Description for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  readonly rowId: (row: Row) => string;
  readonly error?: unknown;
  readonly onRetry?: () => void;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  /** Shown if there are no rows at all: why, and the next step. */
  readonly empty: { readonly title: string; readonly text?: ReactNode; readonly action?: ReactNode };
  /** Given if filters are active: then no rows means that nothing matches. */
  readonly onClearFilters?: (() => void) | undefined;
  /** Opens a row; also put a link or button into a cell, for keyboard users. */
  readonly onOpen?: (row: Row) => void;
  readonly openId?: string | undefined;
  readonly hasTotals?: boolean;
}

const SKELETON_ROWS = 5;
/** With more columns than this, they move closer together. */
const ROOMY_COLUMNS_MAX = 8;

/** A table with all of its states: loading, empty, no match, failed, stale. Scrolls sideways if it is too narrow. */
export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { rows, error } = props;
  const hasFailed = error !== undefined && error !== null;
  if (hasFailed && rows === undefined) return <ErrorState error={error} onRetry={props.onRetry} />;
  return (
    <>
      {hasFailed && <StaleNote error={error} onRetry={props.onRetry} />}
      {rows?.length === 0 ? <NoRows empty={props.empty} onClearFilters={props.onClearFilters} /> : <Rows {...props} />}
    </>
  );
}

function Rows<Row>(props: TableProps<Row>): JSX.Element {
  const { rows } = props;
  return (
    <div
      role="region"
      aria-label={props.caption}
      tabIndex={0}
      // `relative`: visually hidden content of a row scrolls with it. Positioned against the page, it would make the page as long as all rows.
      // `scroll-pt`: focused cells must not hide behind the sticky header.
      className="more-behind @container/list relative max-w-full scroll-pt-12 scroll-pb-2 overflow-auto focus-visible:-outline-offset-2 md:max-h-[calc(100dvh-6rem)] print:max-h-none print:overflow-visible"
    >
      <table
        aria-busy={rows === undefined}
        data-dense={props.columns.length > ROOMY_COLUMNS_MAX || undefined}
        className="group/table w-full border-collapse text-sm"
      >
        <caption className="sr-only">{props.caption}</caption>
        <TableHead columns={props.columns} sort={props.sort} onSort={props.onSort} />
        <tbody>
          {rows === undefined ? (
            <SkeletonRows columns={props.columns} />
          ) : (
            rows.map((row) => <TableRow key={props.rowId(row)} row={row} table={props} />)
          )}
        </tbody>
        {props.hasTotals === true && rows !== undefined && <Totals columns={props.columns} />}
      </table>
    </div>
  );
}

function TableRow<Row>({ row, table }: { readonly row: Row; readonly table: TableProps<Row> }): JSX.Element {
  const isOpen = table.openId !== undefined && table.rowId(row) === table.openId;
  return (
    <tr
      onClick={table.onOpen === undefined ? undefined : () => table.onOpen?.(row)}
      className={cx(
        'border-b border-line last:border-b-0 hover:bg-hover',
        table.onOpen !== undefined && 'cursor-pointer',
        isOpen && 'bg-accent-soft',
      )}
    >
      {table.columns.map((column) => (
        <td key={column.id} className={cx(cellClass(table.columns, column), 'py-2.5')}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function SkeletonRows<Row>({ columns }: { readonly columns: readonly Column<Row>[] }): JSX.Element[] {
  return Array.from({ length: SKELETON_ROWS }, (_, index) => (
    <tr key={index} className="border-b border-line last:border-b-0">
      {columns.map((column) => (
        <td key={column.id} className={cx(cellClass(columns, column), 'py-3')}>
          <Skeleton className={cx('max-w-full', column.isNarrow === true ? 'w-4' : 'w-20', column.align === 'right' && 'ml-auto')} />
        </td>
      ))}
    </tr>
  ));
}

function Totals<Row>({ columns }: { readonly columns: readonly Column<Row>[] }): JSX.Element {
  return (
    <tfoot>
      <tr className="ruled-total">
        {columns.map((column) => (
          <td key={column.id} className={cx(cellClass(columns, column), 'py-3 font-semibold')}>
            {column.total}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}

type NoRowsProps<Row> = Pick<TableProps<Row>, 'empty' | 'onClearFilters'>;

function NoRows<Row>({ empty, onClearFilters }: NoRowsProps<Row>): JSX.Element {
  if (onClearFilters === undefined) return <EmptyState {...empty} />;
  return <EmptyState title={t.nothingMatches} action={<Button onClick={onClearFilters}>{t.clearFilters}</Button>} />;
}

function cellClass<Row>(columns: readonly Column<Row>[], column: Column<Row>): string {
  return cx('align-middle', columnClass(columns, column), column.align === 'right' ? 'text-right' : 'text-left', column.className);
}

